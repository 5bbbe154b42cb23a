"""Names of people, streets and towns for the mini databases: ordinary words, nobody's records.

They are put together by chance, so a pair that belongs to somebody real means nothing.
"""

_GIVEN = """
Ada Adrian Agnes Aisha Alba Alena Alma Amara Ambrose Amir Anders Anika Anton Arlo Asha Astrid
Aurel Beatrix Benedikt Bettina Bianca Boris Branwen Bruno Callum Camila Carmen Casimir Cecily
Celeste Chidi Clara Clement Colette Cormac Cosima Dalia Damian Daphne Darius Delia Desmond Dilan
Dina Dorian Edith Edmund Eero Elena Elias Elif Elodie Elsa Emeka Emil Enid Enzo Esme Esther Ezra
Fabian Farah Felix Fern Fiona Flavia Florian Freya Gareth Gemma Gideon Giulia Greta Gustav Hanna
Hassan Hazel Hector Helga Henrik Hilda Hugo Ibrahim Idris Ilse Imani Imogen Ines Ingrid Iris
Isaac Ivan Ivy Jamila Jasper Joanna Jonas Josefa Jude Judith Julius June Kamala Karim Kasper
Katya Keiko Kenji Kieran Klara Lars Laszlo Leila Lena Leon Leopold Lidia Linnea Lionel Lorna
Lucian Luisa Lydia Mabel Magnus Malik Mara Marcel Margot Marius Marta Matilda Maurice Mei Mila
Milan Mina Miriam Moira Nadia Naomi Nell Niamh Nico Nils Noor Odette Olga Olive Omar Oscar Osman
Otis Otto Pablo Petra Philippa Pia Quentin Rafael Raisa Ravi Reiko Rhys Rosa Rowan Rufus Ruth
Sabine Samir Sanjay Saskia Selma Seth Sigrid Silas Simone Sofia Soren Stella Sunil Sylvia Tamsin
Tariq Tessa Theo Thora Tobias Tomas Ulla Una Uri Vera Viktor Viola Vivek Wanda Wilma Winston
Yara Yasmin Yusuf Zara Zeno Zora
"""

_FAMILY = """
Abara Ackerley Adeyemi Albrecht Aldana Amsel Anand Ansari Arkwright Ashdown Atwell Auerbach
Aveling Bahri Bakshi Balint Bancroft Barlow Barros Baskin Bassett Beaumont Belanger Bellamy
Benning Berglund Bianchi Birtwell Blackwood Bohm Bonner Borg Bosko Bracken Bramley Brandt
Brightwell Brodie Buchan Burdock Calloway Calvert Cardoso Carrow Castellan Chaudhry Chilvers Cho
Clevedon Colby Conti Copley Corrigan Cotterill Crane Crowther Dacosta Dahl Danforth Darby
Delacroix Desai Devlin Diaby Dietz Dimmock Doran Draper Drummond Dunmore Eastwell Ebner Edgerton
Egan Ekwueme Eldridge Ellwood Engel Eriksen Esposito Fairburn Falk Farley Fenwick Ferrante Fiske
Fitch Fontaine Fosse Frayn Friedl Gallego Garrick Gaspard Gessner Gilroy Glover Godwin Goran
Gower Granger Greaves Grieg Guerin Hadley Hallam Hamdi Hargreave Harlan Hartog Hashemi
Haverstock Hawley Heller Hendry Hesketh Hinault Holbrook Holm Hoskins Huang Hulme Ibarra Ingleby
Ishida Ivanov Jankowski Jarrett Jessop Joshi Juarez Kade Kamara Karlsen Kaur Keller Kerrigan
Khoury Kimura Kingsley Kirkby Klein Knox Kober Kovacs Krall Lachance Lambeth Lang Larkin Lazar
Leclerc Ledger Lindqvist Lockhart Lomax Lorimer Lund Lyall Macrae Madaki Mallory Marchetti
Marlowe Mbeki Medina Mercer Merrick Mistry Molnar Montrose Moreau Morrow Murakami Nadeem Nagy
Nakata Navarro Neville Nkosi Norcross Novak Nyberg Oakes Obi Odell Okafor Okonjo Ormond Osei
Osborne Ostrow Paget Palomo Pardoe Parekh Pellegrino Pemberton Penrose Petrov Pike Pollard
Popescu Prior Quill Quiroga Rahimi Rainford Ramsey Redfern Renshaw Rinaldi Rocha Rosenthal
Rourke Rowntree Rusk Sadler Saito Salvi Sandoval Sauer Seddon Selwyn Serrano Shankar Sharrock
Sinclair Skelton Solberg Sorrell Stanhope Stavros Stern Stroud Sutcliffe Svensson Talbot Tanaka
Tanner Tavares Thackeray Thorne Tindall Toomey Travers Tremaine Tully Underhill Urbina Vance
Varga Vasquez Velasco Verne Vickers Vogel Volkov Wadham Wainwright Walden Waring Weiss Wendell
Westcott Whitlock Wilder Winslow Wolfe Wragg Wren Yamada Yardley Yilmaz Zeller Ziegler
"""

_TOWNS = """
Alderbrook Ashmere Barrowby Beckford Birchwick Brackley Bridgend Burnside Calderby Carrick
Castleton Cliffmoor Coldwater Copperhill Cranmere Dunmoor Eastleigh Elmstow Fairhaven Fernhurst
Glenmore Graymouth Greenford Halbrook Harrowgate Hartwell Hawksworth Highfield Holmebridge
Ironbridge Kestrel Kingsmoor Lakeside Langford Larkhill Linfield Maplewood Marston Millbrook
Netherby Northwick Oakvale Ostmere Pinecrest Quarrington Ravensholt Redwater Riverton Rosedale
Saltmarsh Sandford Selbridge Silverton Stonebridge Summerfield Thornbury Upperby Waterford
Westbrook Whitcombe Wolverley Woodbury
"""

_STREET_WORDS = """
Alder Beacon Bridge Castle Cedar Chapel Church Elm Foundry Granary Harbour Juniper Kiln Larch
Market Mill Orchard Priory Quarry Station Tannery Weir
"""

GIVEN_NAMES = _GIVEN.split()
FAMILY_NAMES = _FAMILY.split()
TOWNS = _TOWNS.split()
STREETS = [
    f"{word} {kind}"
    for word in _STREET_WORDS.split()
    for kind in ("Street", "Lane", "Road", "Avenue")
]
